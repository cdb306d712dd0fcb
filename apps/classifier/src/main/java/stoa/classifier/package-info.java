/// The network traffic classification service of the self-service paper (section 8.3).
///
/// Networks contribute their records to shared classifiers, support vector machines that LIBSVM
/// trains, and read these to judge their traffic. A [stoa.classifier.Classifier] is placed at
/// clients: an update runs at the network that has the records; other networks see only those that
/// become support vectors.
package stoa.classifier;
