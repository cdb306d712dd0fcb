/// The command `./stoa bench` and the list of benchmarks. Each benchmark has a package of its own;
/// they share `load`, `machine`, `plot` and `report`.
package stoa.bench;
