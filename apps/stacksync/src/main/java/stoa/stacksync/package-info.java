/// StackSync, the personal cloud of the AOF and CRESON papers, on shared objects.
package stoa.stacksync;
