"""Xu, Zhou, Tsang, Qin, Goh, Liu: Learning using Privileged Information, IJCAI 2016."""

from verification.paper_statements._record import statements

stated = statements(__name__)
