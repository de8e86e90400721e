/** Under this key a lock or a store carries what coordinates its members. Shared by all installed copies of tickless. */
export const coordinationKey: unique symbol = Symbol.for('tickless.coordination');
