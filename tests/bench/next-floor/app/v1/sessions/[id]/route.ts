import type { NextRequest } from 'next/server';
import { answer, getFloorReads } from '../../../../reads';

export const GET = async ({ headers }: NextRequest, { params }: { params: Promise<{ id: string }> }) =>
  answer(await getFloorReads().readSession(headers.get('authorization'), (await params).id));
