/** Where the console of a service is. */
export const CONSOLE_PATH = '/tickless';
