/// Several servers: throughput, latency while servers fail, join and leave, and YCSB.
package stoa.bench.cluster;
