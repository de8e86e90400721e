/** placeholder */
export const apiSchema: object = {};
