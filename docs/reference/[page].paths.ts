import { generatedPages } from '../.vitepress/reference/generated-pages.ts';

export default { paths: generatedPages };
