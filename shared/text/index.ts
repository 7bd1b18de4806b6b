/** Texts from outside: cut to a length without breaking a character, and compared in constant time where they are secret. */
export { isSameSecret } from './is-same-secret.ts';
export { ellipsize, truncate, truncateBytes } from './truncate.ts';
