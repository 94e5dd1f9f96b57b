"""A matrix product and a solve: BLAS and LAPACK are there and agree."""

import json

import numpy

a = numpy.arange(16.0).reshape(4, 4) + 4 * numpy.eye(4)
x = numpy.linalg.solve(a, numpy.ones(4))
assert numpy.allclose(a @ x, numpy.ones(4)), "solve and product disagree"
print(json.dumps({"ok": True, "version": numpy.__version__, "detail": "matrix product and solve"}))
