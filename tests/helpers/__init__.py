"""What tests share: a model server, a hub, a scratch project, `seam`, and rows that are made up."""
