#!/bin/sh
# Makes the certificates of this folder again (OpenSSL 3). The authority's key is thrown away.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
new_key() { openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out "$1"; }
sign() { # <file> <extensions> <from> <until> [more options]
  file=$1 extensions=$2 from=$3 until=$4
  shift 4
  openssl ca -batch -notext -config "$work/config" -extensions "$extensions" -startdate "$from" -enddate "$until" \
    -out "$file.pem" "$@" 2> "$work/log" || { cat "$work/log" >&2; exit 1; }
}

cat > "$work/config" <<END
[ca]
default_ca = authority
[authority]
database = $work/index
rand_serial = yes
new_certs_dir = $work
unique_subject = no
default_md = sha256
policy = any
[any]
commonName = supplied
[root]
basicConstraints = critical, CA:true
[receiver]
basicConstraints = critical, CA:false
subjectAltName = DNS:receiver.test, DNS:*.wild.test
[client]
basicConstraints = critical, CA:false
subjectAltName = DNS:receiver.test
extendedKeyUsage = clientAuth
END
: > "$work/index"
new_key "$work/authority.key"
new_key receiver.key
openssl req -new -key "$work/authority.key" -subj '/CN=webhook test authority' -out "$work/authority.csr"
openssl req -new -key receiver.key -subj '/CN=receiver.test' -out "$work/receiver.csr"
sign authority root 20240101000000Z 21240101000000Z -selfsign -keyfile "$work/authority.key" -in "$work/authority.csr"
by_authority="-cert authority.pem -keyfile $work/authority.key -in $work/receiver.csr"
sign receiver receiver 20240101000000Z 21240101000000Z $by_authority
sign expired receiver 20200101000000Z 20210101000000Z $by_authority
sign early receiver 21200101000000Z 21230101000000Z $by_authority
sign client client 20240101000000Z 21240101000000Z $by_authority
