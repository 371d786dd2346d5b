"""The one error that users see."""


class SeamError(Exception):
    """A problem that the user can fix.

    The message says what is wrong, where (file, line, value), and what to do about it. The `seam`
    command prints it without a traceback and exits with status 2. Any other exception is a bug.
    """
