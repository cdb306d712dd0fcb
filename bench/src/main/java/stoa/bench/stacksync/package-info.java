/// The personal cloud of the AOF and CRESON papers, in each of its designs, beside the same service
/// on other stores.
@org.jspecify.annotations.NullMarked
package stoa.bench.stacksync;
