/// What programs hold in place of shared objects, and how their calls begin, wherever the store is.
package stoa.front;
