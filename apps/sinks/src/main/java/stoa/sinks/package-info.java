/// Programs that follow the changes of shared objects and write them into other systems.
package stoa.sinks;
