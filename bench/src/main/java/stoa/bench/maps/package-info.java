/// A shared map beside the maps of storage engines, in one process.
@org.jspecify.annotations.NullMarked
package stoa.bench.maps;
