/// Cassandra, beside which `./stoa bench ycsb` measures. Its servers run on a Java of their own, in
/// processes of their own, with libraries that are on no class path of this project.
@NullMarked
package stoa.cassandra;

import org.jspecify.annotations.NullMarked;
