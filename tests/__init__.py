"""The tests. Folders mirror the rooms of `seam_lib`; `project` holds what is about the whole."""
