"""Xu, Zhou, Tsang, Qin, Goh, Liu: Learning using Privileged Information, IJCAI 2016."""

TITLE = (
    "Xu, Zhou, Tsang, Qin, Goh, Liu: Simple and Efficient Learning using Privileged "
    "Information (IJCAI 2016)"
)
#: What quotes were read from.
READ = "OCR"
