// Boost.URL 1.81 has no library in Debian 12: this one file compiles it.
#include <boost/url/src.hpp>
