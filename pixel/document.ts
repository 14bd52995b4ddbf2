// The document and its variables as the browser and the page's scripts made them. People can write elements into posts that hide
// properties of the document by their names, or look like variables. They must neither stop the pixel for all readers nor change
// what it sees.

/** Reads a property of the document, although an element of that name hides it. A page may have another `Document`. */
export const readDocument = (name: string) => Reflect.get(Object.getPrototypeOf(document), name, document);

export const findElement = <Found extends Element>(selector: string): Found | null =>
  readDocument('querySelector').call(document, selector);

/** Describes a property that the window itself has: a variable of the page, but no element. */
export const describeVariable = (name: string) => Object.getOwnPropertyDescriptor(window, name);
