import { tenantStateInLua } from '../tenants/index.ts';
import { transitionsInLua } from './transitions-in-lua.ts';

/** What the scripts of this folder include besides the files in `include/`. */
export function scriptFragments(): Record<string, string> {
  return { transitions: transitionsInLua(), 'tenant-state': tenantStateInLua() };
}
