/// Several servers that keep one store: each has a replica of its log, one of them has the store.
package stoa.cluster;
