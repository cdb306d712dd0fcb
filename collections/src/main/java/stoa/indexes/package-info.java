/// The indexes of shared classes, which are shared objects, and the queries over them.
///
/// | class | what it is |
/// |---|---|
/// | [IndexPart] | a shared object: the values of one part of an index, and their objects |
/// | [IndexList] | a shared object: which indexes of a class have all of its objects |
/// | [IndexAgent] | a shared object without state: the part of queries and deletions that runs where the objects are |
/// | [InstalledIndexes] | finds the part of a value, for the store |
/// | [TypedQuery], [Plan] | a query of a program, and how it is answered |
/// | [Watch] | a query that tells each answer that differs |
/// | [IndexCheck] | compares an index with a recount of the objects |
package stoa.indexes;
