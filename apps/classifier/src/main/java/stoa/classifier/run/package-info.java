/// Networks that train shared classifiers with a real data set, and a measure of how well these
/// judge traffic outside of the training.
package stoa.classifier.run;
