import { MusterError } from '../../errors/index.ts';
import {
  type ChoreHandler,
  type ChoreHandlers,
  type ChoreName,
  choreNames,
  type ChoreService,
  definitionOf,
  isChoreName,
} from './chores.ts';

/** The handlers of a service's chores by name. Throws `config.invalid` when one has no handler: a process without it would start and not do it. */
export function handlersFor<Service extends ChoreService>(
  service: Service,
  given: ChoreHandlers<Service>,
): ReadonlyMap<ChoreName, ChoreHandler> {
  const names = choreNames().filter((name) => definitionOf(name).by.includes(service));
  const all = Object.entries<ChoreHandler>(given);
  const handlers = new Map(all.flatMap(([name, handler]) => (isChoreName(name) && names.includes(name) ? [[name, handler] as const] : [])));
  const missing = names.filter((name) => !handlers.has(name));
  const unknown = all.map(([name]) => name).filter((name) => !isChoreName(name) || !handlers.has(name));
  if (missing.length + unknown.length > 0)
    throw new MusterError(
      'config.invalid',
      `Chores of the ${service}: no handler for ${listOf(missing)}, no definition of ${listOf(unknown)}`,
    );
  return handlers;
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
