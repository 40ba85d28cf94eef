#include "base/error.hpp"

#include <cstdio>

namespace petsctt {

void fail(int code, const char *format, ...)
{
  char    message[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(message, sizeof message, format, args);
  va_end(args);
  throw Error(code, message);
}

} // namespace petsctt
