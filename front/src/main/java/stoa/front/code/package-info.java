/// Versions of the code of shared classes: which class files give the calls of a type their
/// meaning, how such a set of files gets its name, and how the files become classes again.
@NullMarked
package stoa.front.code;

import org.jspecify.annotations.NullMarked;
