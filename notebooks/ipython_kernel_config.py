"""Kernels listen on this machine only: their warning about encryption says nothing to a reader."""

import logging

logging.getLogger("IPKernelApp").addFilter(lambda record: "encryption" not in record.getMessage())
