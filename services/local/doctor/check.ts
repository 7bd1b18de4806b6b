/** One thing the doctor looked at. */
export interface Check {
  name: string;
  /** `warn`: works, with less than it could promise; `fail`: the fleet does not start or may lose work; `skip`: could not be looked at. */
  state: 'ok' | 'warn' | 'fail' | 'skip';
  /** What was found and, unless it is fine, what to do. One line. */
  detail: string;
}
