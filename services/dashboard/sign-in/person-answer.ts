/** What `GET /console/person` answers. */
export interface PersonAnswer {
  tenant: string;
  name: string;
  scopes: readonly string[];
  /** Whether a person of a provider signed in, or somebody with a key. */
  kind: 'person' | 'key';
  email: string | null;
  /** Those that the person may act in. */
  tenants: string[];
  /** What people call the identity provider; null without one. */
  provider: string | null;
}
