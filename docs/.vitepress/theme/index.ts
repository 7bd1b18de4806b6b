/** The theme of the guide: that of VitePress without its fonts, in the console's colours. */
export { default } from './theme.ts';
