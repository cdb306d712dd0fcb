/// Stoa in one process, beside a bare group commit.
package stoa.bench.embedded;
