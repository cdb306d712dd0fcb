/// The goals of the plugin.
@NullMarked
package stoa.maven;

import org.jspecify.annotations.NullMarked;
