"""The colours of every figure and page, by name: whoever draws takes them from here.

Those of Okabe and Ito (2008), which colour-blind readers tell apart, and two greys. Colour only
repeats what a marker, a line style, a hatch or a word says already, so everything reads in print.
"""

BLUE = "#0072b2"
VERMILION = "#d55e00"
GREEN = "#009e73"
ORANGE = "#e69f00"
PURPLE = "#cc79a7"
SKY = "#56b4e9"
YELLOW = "#f0e442"
BLACK = "#000000"

#: For thin signs, and for fills below white letters: there the plain ones have too little contrast.
DARK_VERMILION = "#b84f00"
LIGHT_VERMILION = "#f08a3c"  # the same on a dark page
DARK_GREEN = "#00694d"
DARK_GREY = "#595959"

GREY = "#b8b8b8"  # what stands behind: other models, other steps
NEUTRAL = "#808080"  # readable on white and on black, thinned out by a second pair of digits
