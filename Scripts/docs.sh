#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#     docs.sh [MODULE ...]
#
# Builds the reference of the libraries with DocC into .build-docs/reference, without warnings. It reads the modules of a debug build, so it
# needs no plug-in and adds no dependency to the package. Links to the types of RealmKit are resolved in all of them.
#
# BUILD is the folder of a debug build of this package, or of a package that depends on it; by default it is built here.
set -eu

cd "$(dirname "$0")/.."
root=$PWD
reference=$root/.build-docs/reference
modules=${*:-RealmKit RealmTesting AccessControl HummingbirdRealms NIORealms RealmVerifier GatehouseClient}
if [ -z "${BUILD:-}" ]; then
    for module in $modules; do Scripts/build.sh --target "$module"; done
    BUILD=$(Scripts/build.sh --show-bin-path)
fi
checkouts=$(dirname "$(dirname "$(realpath "$BUILD")")")/checkouts

# The modules of C that the Swift modules import.
maps=$( (ls "$BUILD"/*.build/module.modulemap "$root"/Sources/System/*/module.modulemap
    find "$checkouts" -path '*/Sources/*' -name module.modulemap) | sed 's/^/-Xcc -fmodule-map-file=/')
target=$(swift -print-target-info | sed -n 's/^ *"triple": "\(.*\)",/\1/p' | head -1)
known=
for module in $modules; do
    symbols=$reference/symbols/$module
    rm -rf "$symbols" "$reference/$module.doccarchive"
    mkdir -p "$symbols"
    # shellcheck disable=SC2086
    swift-symbolgraph-extract -module-name "$module" -I "$BUILD/Modules" $maps -target "$target" \
        -minimum-access-level public -emit-extension-block-symbols -output-dir "$symbols"
    # shellcheck disable=SC2086
    docc convert --additional-symbol-graph-dir "$symbols" --output-path "$reference/$module.doccarchive" --warnings-as-errors \
        --fallback-display-name "$module" --fallback-bundle-identifier "gatehouse.$module" --fallback-default-module-kind Library \
        --enable-experimental-external-link-support $known
    echo "$module: ${reference#"$root"/}/$module.doccarchive"
    [ "$module" != RealmKit ] || known="--dependency $reference/RealmKit.doccarchive"
done
echo "to read it: python3 -m http.server --directory ${reference#"$root"/}/RealmKit.doccarchive, then http://localhost:8000/documentation/realmkit"
