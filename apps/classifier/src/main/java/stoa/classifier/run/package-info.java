/// Networks that train shared classifiers with a real data set, and how well those judge traffic
/// that nobody trained with.
package stoa.classifier.run;
