import { ELSEWHERE, readSource } from '../sources.ts';
import { apiPages } from './api-pages.ts';

/** The pages of `/reference/` by name: those of files outside of `docs/`, and the API from its OpenAPI document. */
export const GENERATED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(ELSEWHERE).flatMap(([file, page]) => {
      const name = /^reference\/(.*)\.md$/.exec(page)?.[1];
      return name === undefined ? [] : [[name, readSource(file)]];
    }),
  ),
  ...apiPages(),
};

/** For VitePress's dynamic route. */
export function generatedPages(): { params: { page: string }; content: string }[] {
  return Object.entries(GENERATED).map(([page, content]) => ({ params: { page }, content }));
}
