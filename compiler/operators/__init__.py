"""One file per operator family: parameters, shape, numpy meaning, class and MAC count."""
