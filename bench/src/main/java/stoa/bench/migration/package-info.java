/// Objects that migrate in a tree of clients (self-service objects, Figures 9 to 14).
package stoa.bench.migration;
