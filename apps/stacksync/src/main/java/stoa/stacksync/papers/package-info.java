/// The facade of StackSync in the form of the AOF and CRESON papers (their Figures 1 and 4): shared
/// objects by `new`, and indexes in static fields. It runs woven, see [stoa.Shared].
package stoa.stacksync.papers;
