import { afterAll, beforeAll, beforeEach } from 'vitest';
import { Campus } from '../../support/campus';
import { startTestServer, type TestServer } from '../../support/server';
import { IPHONE, type VisitFields } from '../../support/visits';

// One server, and a new campus for each test.

export let server: TestServer;
export let campus: Campus;

export function shareCampus(): void {
  beforeAll(async () => {
    server = await startTestServer();
  });
  beforeEach(async () => {
    campus = await Campus.create(server);
  });
  afterAll(() => server.stop());
}

export const visit = (...visits: VisitFields[]) => campus.visit(...visits);
export const listTypes = (...visits: VisitFields[]) => campus.listTypes(...visits);

export const [LAPTOP, PHONE] = [{ device: 'laptop' }, { device: 'phone', userAgent: IPHONE }];
export const LONDON = { latitude: 51.5, longitude: -0.12, accuracyKm: 50 };
export const SYDNEY = { latitude: -33.87, longitude: 151.2, accuracyKm: 50 };
export const PARIS = { latitude: 48.86, longitude: 2.35, accuracyKm: 50 };
export const users = (count: number, fields: VisitFields = {}) =>
  Array.from({ length: count }, (_, n) => ({ ...fields, user: `user-${n}`, ago: 500 - n * 10 }));
