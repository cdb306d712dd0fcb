/// Versions of the code of shared classes: the class files that determine the calls of a type, the
/// name of such a set of files, and the loader that turns the files into classes again.
@NullMarked
package stoa.front.code;

import org.jspecify.annotations.NullMarked;
