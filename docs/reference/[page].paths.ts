import { pagesFromElsewhere } from '../.vitepress/sources.ts';

export default { paths: pagesFromElsewhere };
