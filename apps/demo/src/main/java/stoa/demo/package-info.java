/// The demos: real data replayed on the applications of the papers, and verified.
@org.jspecify.annotations.NullMarked
package stoa.demo;
