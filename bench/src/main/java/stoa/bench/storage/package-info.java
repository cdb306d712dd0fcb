/// The storage device beside plain files, journaled files and other storage engines (VOSD, Figures
/// 3 to 5).
package stoa.bench.storage;
