import type { NextRequest } from 'next/server';
import { answer, getFloorReads } from '../../../reads';

export const GET = async ({ headers, nextUrl }: NextRequest) =>
  answer(await getFloorReads().readPage(headers.get('authorization'), Number(nextUrl.searchParams.get('pageSize'))));
