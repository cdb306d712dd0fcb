/// Transactions, snapshots and long reads (vCorfu, Figures 13 to 15).
package stoa.bench.tx;
