/// The sinks as a program.
package stoa.sinks.run;
