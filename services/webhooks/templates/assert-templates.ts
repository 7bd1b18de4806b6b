import { invalidRequest } from '#shared/http/index.ts';
import type { HookPatch } from '../hook.ts';
import { sizeProblem, type TemplateBounds } from './parse-template.ts';

/** Throws `request.invalid` for templates over the bounds of the configuration. Their form was checked by the schema. */
export function assertTemplates(given: Pick<HookPatch, 'template' | 'session'>, bounds: TemplateBounds): void {
  const problems = (['template', 'session'] as const).flatMap((name) => {
    const template = given[name];
    const message = template === undefined || template === null ? null : sizeProblem(template, bounds);
    return message === null ? [] : [{ path: `body.${name}`, message }];
  });
  if (problems.length > 0) throw invalidRequest(problems);
}
