/// YCSB on composed maps, beside stores of other products: Figures 12 and 13 of the vCorfu paper.
@org.jspecify.annotations.NullMarked
package stoa.bench.ycsb;
