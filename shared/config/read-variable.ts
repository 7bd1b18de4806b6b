/** A variable of this process's environment that the operator's configuration names; undefined when it is not set. */
export function readVariable(name: string): string | undefined {
  return process.env[name];
}
